// Approves in a browser, by the keyboard alone: node approve.mjs URL [URL_WITHOUT_SCRIPT]
// Each URL is a pending approval's page; LOGIN and PASSWORD sign in. The second is approved with scripts switched off.
import { check, launch, reach, signIn } from "./browser.mjs";

const [withScript, withoutScript] = process.argv.slice(2);
if (!withScript) throw new Error("node approve.mjs URL [URL_WITHOUT_SCRIPT]");

const browser = await launch();
try {
  await approve(withScript, true);
  if (withoutScript) await approve(withoutScript, false);
} finally {
  await browser.close();
}

async function approve(url, javaScriptEnabled) {
  const context = await browser.newContext({ javaScriptEnabled, viewport: { width: 390, height: 844 }, timezoneId: "Europe/Berlin" });
  const page = await context.newPage();
  const refused = [];
  page.on("console", (message) => message.type() === "error" && refused.push(message.text()));
  page.on("request", (request) => request.headers().referer && refused.push(`a referrer was sent to ${request.url()}`));

  await page.goto(url);
  check(new URL(page.url()).pathname === "/sign-in", `scripts ${javaScriptEnabled ? "on" : "off"}: an approval asks to sign in first`);
  await signIn(page);
  check(page.url() === url, "signing in leads back to the approval");
  check((await page.title()).startsWith("Needs you: "), "the title says that it needs the person");

  const shown = await page.locator("main time").last().textContent();
  check(/UTC$/.test(shown) !== javaScriptEnabled, `the time is ${javaScriptEnabled ? "local" : "in UTC"}: ${shown}`);
  const focused = await page.evaluate("document.activeElement.tagName");
  check(focused === "BODY", "nothing is preselected");

  await reach(page, (element) => element.tagName === "BUTTON" && element.textContent.trim() === "Decline");
  await page.keyboard.press("Tab");
  check(await page.evaluate("document.activeElement.textContent.trim().startsWith('Approve')"), "approve is one key from decline");
  const box = await page.evaluate("(({top, bottom, height}) => ({top, bottom, height}))(document.activeElement.getBoundingClientRect())");
  const widths = await page.locator(".buttons button").evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().width));
  check(widths[0] === widths[1], "both buttons are of one size");
  check(box.height >= 44 && box.top >= 0 && box.bottom <= 844, "the button is large enough, and in sight");
  await Promise.all([page.waitForEvent("domcontentloaded"), page.keyboard.press("Enter")]);

  check(page.url() === url, "the page is the approval's own after the click");
  check((await page.title()).startsWith("Approved: "), "the title says that it is approved");
  check((await page.locator("main").textContent()).includes("Approved by you"), "the page says who approved");
  check((await page.locator("main code").allTextContents()).some((text) => text.startsWith("rec_")), "the page names the record");
  check((await page.locator("main form").count()) === 0, "nothing is left to click");
  check(refused.length === 0, `the browser refused nothing: ${refused.join("; ") || "nothing"}`);
  await context.close();
}
