// Writes times in the reader's own zone, and keeps the distance to them up to date. Pages say the same without it, in UTC.
"use strict";
(() => {
  const root = document.documentElement;
  const dates = new Intl.DateTimeFormat(root.dataset.dates, { day: "numeric", month: "short", year: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" });
  const distances = new Intl.RelativeTimeFormat("en", { numeric: "always" });

  // The server's clock, carried on: the device's own may be wrong.
  const started = performance.now();
  const now = (from) => from + (performance.now() - started);

  const distance = (millis) => {
    const seconds = Math.trunc(millis / 1000);
    const far = Math.abs(seconds);
    if (far < 1) return "now";
    if (far < 60) return distances.format(seconds, "second");
    if (far < 3600) return distances.format(Math.trunc(seconds / 60), "minute");
    if (far < 172800) return distances.format(Math.trunc(seconds / 3600), "hour");
    return distances.format(Math.trunc(seconds / 86400), "day");
  };

  for (const time of document.querySelectorAll("time[datetime]")) {
    time.textContent = dates.format(new Date(time.dateTime));
  }

  const counters = [...document.querySelectorAll("[data-until]")].map((element) => ({
    element,
    until: Number(element.dataset.until),
    from: Number(element.dataset.now),
  }));
  const tick = () => {
    let soonest = Infinity;
    for (const { element, until, from } of counters) {
      const left = until - now(from);
      const text = left > 0 ? (element.dataset.before ?? "") + distance(left) : element.dataset.over;
      if (element.textContent !== text) element.textContent = text;
      if (left > 0) soonest = Math.min(soonest, left);
    }
    // To the second in the last minutes, calmly before.
    if (soonest < Infinity) setTimeout(tick, soonest < 120000 ? 1000 : 10000);
  };
  if (counters.length > 0) tick();
})();
