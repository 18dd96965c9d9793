// Looks at pages: node look.mjs FOLDER BASE PATH...
// Signs in with LOGIN and PASSWORD if they are set, then, for every path, at 320 px (as 1280 at 400 % zoom), 390, 1280 and
// 1440, light and dark: a screenshot into the folder (at 390 and 1280), axe-core, and no sideways scrolling. The HTML of each
// is validated once.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { HtmlValidate } from "html-validate";
import { launch, signIn } from "./browser.mjs";

const [folder, base, ...paths] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const html = new HtmlValidate({
  extends: ["html-validate:standard"],
  // Long titles name the payment; our own files need no hash of theirs; the rest is layout of the text.
  rules: { "no-inline-style": "error", "long-title": "off", "require-sri": "off", "no-trailing-whitespace": "off", "doctype-style": "off" },
});

const findings = [];
const browser = await launch();
try {
  const context = await browser.newContext({ bypassCSP: true });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("the server responded with a status of 4")) findings.push(`${page.url()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => findings.push(`${page.url()}: ${error}`));
  if (process.env.LOGIN) {
    await page.goto(`${base}/sign-in`);
    await signIn(page);
  }
  for (const path of paths) {
    const name = path.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "home";
    const answer = await page.goto(base + path);
    const report = await html.validateString(await answer.text());
    for (const { messages } of report.results) for (const { line, column, message, ruleId } of messages) findings.push(`${path}:${line}:${column}: ${message} (${ruleId})`);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      for (const width of [320, 390, 1280, 1440]) {
        await page.setViewportSize({ width, height: width < 500 ? 844 : 900 });
        const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        const height = await page.evaluate("document.documentElement.scrollHeight");
        if (width === 390 || width === 1280) await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png` });
        // As tall as the page: then the buttons stand at its end, and nothing lies over anything.
        await page.setViewportSize({ width, height });
        const lost = await page.evaluate(`[...document.querySelectorAll("main *")].filter((element) => {
          const { right, bottom } = element.getBoundingClientRect();
          return (right + scrollX < 0 || bottom + scrollY < 0) && element.checkVisibility();
        }).map((element) => element.outerHTML)`);
        for (const element of lost) findings.push(`${path} at ${width} px: outside the page: ${element}`);
        if (wide > 0) findings.push(`${path} at ${width} px: ${wide} px too wide`);
        await page.evaluate(axe);
        const { violations, incomplete } = await page.evaluate(
          "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })",
        );
        for (const { id, nodes } of violations) findings.push(`${path} at ${width} px, ${colorScheme}: ${id}: ${nodes.map((node) => node.html).join(" ")}`);
        for (const { id, nodes } of incomplete) findings.push(`${path} at ${width} px, ${colorScheme}: cannot tell ${id}: ${nodes.map((node) => node.html).join(" ")}`);
        if (width === 390 || width === 1280) await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}-whole.png` });
      }
    }
    console.log(`looked at ${path}`);
  }
} finally {
  await browser.close();
}
for (const finding of findings) console.error(finding);
console.log(`${findings.length} findings`);
process.exitCode = findings.length > 0 ? 1 : 0;
