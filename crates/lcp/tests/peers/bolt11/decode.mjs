// Prints what light-bolt11-decoder reads in an invoice, as the members of a case.
import { decode } from "light-bolt11-decoder";

const { sections } = decode(process.argv[2]);
const section = (name) => sections.find((section) => section.name === name);
const network = section("coin_network");
console.log(
  JSON.stringify({
    currency: network.value.bech32,
    amount: section("amount")?.letters ?? null,
    timestamp: section("timestamp").value,
    expiry: section("expiry")?.value ?? 3600,
    paymentHash: section("payment_hash").value,
    description: section("description")?.value ?? null,
    descriptionHash: section("description_hash")?.value ?? null,
    metadata: section("metadata")?.value ?? null,
  }),
);
