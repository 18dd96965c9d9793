// Sets the first password in a browser, by the keyboard alone: node setup.mjs SETUP_URL
// PASSWORD is the password; the login is printed as `login: NAME`.
import { check, launch, reach } from "./browser.mjs";

const [url] = process.argv.slice(2);
const { PASSWORD } = process.env;
if (!url || !PASSWORD) throw new Error("PASSWORD=… node setup.mjs SETUP_URL");
const secret = url.slice(url.lastIndexOf("/") + 1);

const browser = await launch();
try {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  const leaks = [];
  page.on("request", (request) => request.headers().referer && leaks.push(`a referrer was sent to ${request.url()}`));
  await page.goto(url);
  check(new URL(page.url()).pathname === "/setup" && !(await page.content()).includes(secret), "the link's secret leaves address and page at once");
  const login = await page.locator("#login").inputValue();

  const send = async (password, again) => {
    await reach(page, (element) => element.name === "password");
    await page.keyboard.type(password);
    await page.keyboard.press("Tab");
    await page.keyboard.type(again);
    await Promise.all([page.waitForEvent("domcontentloaded"), page.keyboard.press("Enter")]);
  };
  await send(PASSWORD, `${PASSWORD}!`);
  check((await page.title()).startsWith("Choose another password"), "two that differ are not taken");
  await send(PASSWORD, PASSWORD);
  check(new URL(page.url()).pathname === "/approvals", "the password is set, and the person signed in");

  const answer = await page.goto(url);
  check(answer.status() === 410, "the link is good once");
  check(leaks.length === 0, `no referrer was sent: ${leaks.join("; ") || "none"}`);
  console.log(`login: ${login}`);
} finally {
  await browser.close();
}
