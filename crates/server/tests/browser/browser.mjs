// A browser for the tests: Debian's chromium, with a profile of its own that is thrown away.
import { chromium } from "playwright-core";

export async function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

// Signs in on the page that is open, with the keyboard alone.
export async function signIn(page) {
  const { LOGIN, PASSWORD } = process.env;
  if (!LOGIN || !PASSWORD) throw new Error("set LOGIN and PASSWORD");
  await reach(page, (element) => element.name === "login");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(LOGIN);
  await page.keyboard.press("Tab");
  await page.keyboard.type(PASSWORD);
  await Promise.all([page.waitForEvent("domcontentloaded"), page.keyboard.press("Enter")]);
}

// Presses Tab until an element that fits has the focus, as a person without a mouse does.
export async function reach(page, fits) {
  const has = () => page.evaluate(`(${fits})(document.activeElement)`);
  for (let presses = 0; presses < 60; presses++) {
    if (await has()) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`the keyboard does not reach ${fits} on ${page.url()}`);
}

export function check(holds, what) {
  if (!holds) throw new Error(what);
  console.log(`ok: ${what}`);
}
