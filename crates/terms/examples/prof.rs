use lcp::*;
fn main() {
    let doc = json::parse(include_str!("/tmp/chosen.json"), 64).unwrap();
    let p = registry::pairing("x402/exact/eip155/eip3009").unwrap();
    let sig: Value = format!("0x{}", "11".repeat(65)).into();
    for _ in 0..10000 {
        std::hint::black_box(terms::finish(p, b"abc", &doc, &sig).unwrap());
    }
}
