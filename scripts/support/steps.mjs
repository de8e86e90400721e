// Runs the steps of a gate: side by side on the processors that are there, those that need another one after it, those
// that measure alone.

import { availableParallelism } from 'node:os';
import { run } from './run.mjs';
import { printTable } from './table.mjs';

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} title
 * @property {string[]} command its last line may be `N passed, N failed`; else it counts as one. A line that begins
 *   with `skipped: ` names what it did not test, and why; one that begins with `failed: `, what failed
 * @property {string[]} [after] the steps that must have passed before, where they are run
 * @property {boolean} [alone] nothing runs beside it
 * @property {string} [installs] what it installs where that is missing
 * @property {Record<string, string>} [env]
 * @property {string} [skip] why it is not run here
 */

const HEARTBEAT_MS = 9000;
/** Far beyond the slowest step: a hang must end in a failure. */
const TIMEOUT_MS = 25 * 60_000;

const secondsSince = (instant) => (performance.now() - instant) / 1000;
const seconds = (since) => `${secondsSince(since).toFixed(0)} s`;

function countsOf({ code, stdout }) {
  const [, passed, failed] = /(\d+) passed, (\d+) failed\s*$/.exec(stdout)?.map(Number) ?? [0, 1, 0];
  if (code === 0 && passed > 0) return { passed, failed };
  return { passed: failed > 0 ? passed : Math.max(0, passed - 1), failed: Math.max(1, failed) };
}

/**
 * Goes on after a failure; what needs the failed step is left out, and counts as failed. What a step says has failed is printed as
 * soon as it says so. Ends with the time of each step, the skipped tests, those that failed, and the line `N passed, N failed`.
 *
 * @param {readonly Step[]} steps in the order in which they are to begin
 * @param {number} [timeoutMs] for each of them
 * @returns {Promise<boolean>} whether all passed
 */
export async function runSteps(steps, timeoutMs = TIMEOUT_MS) {
  const begun = performance.now();
  const waiting = steps.filter(({ skip }) => skip === undefined);
  const skipped = steps.flatMap(({ title, skip }) =>
    skip === undefined ? [] : [`skipped: ${title}: ${skip}`],
  );
  const failures = [];
  const times = [];
  const running = new Map();
  const ended = new Map();
  const total = { passed: 0, failed: 0 };
  let spokenAt = begun;
  const say = (text) => {
    spokenAt = performance.now();
    console.log(text);
  };
  const isChosen = (name) => steps.some((step) => step.name === name);

  async function start(step) {
    const startedAt = performance.now();
    running.set(step, startedAt);
    const tests = [];
    const result = await run(step.command, {
      env: { NO_COLOR: '1', FORCE_COLOR: undefined, ...step.env },
      timeoutMs,
      onLine(line) {
        if (line.startsWith('skipped: ')) skipped.push(line);
        if (!line.startsWith('failed: ')) return;
        tests.push(line);
        say(`${step.title}: ${line}`);
      },
    });
    running.delete(step);
    times.push([step.title, secondsSince(startedAt)]);
    const { passed, failed } = countsOf(result);
    ended.set(step.name, failed === 0);
    total.passed += passed;
    total.failed += failed;
    if (failed > 0) {
      console.log(result.output.trimEnd());
      if (result.isTimedOut) tests.push(`failed: ${step.title}: not ended after ${timeoutMs / 1000} s`);
      failures.push(...(tests.length > 0 ? tests : [`failed: ${step.title}, see above`]));
    }
    const count = passed + failed > 1 ? `, ${passed} passed${failed > 0 ? `, ${failed} failed` : ''}` : '';
    say(`${failed > 0 ? 'FAILED' : 'ok    '} ${step.title} (${seconds(startedAt)}${count})`);
  }

  const mayStart = (step) =>
    (step.after ?? []).every((name) => !isChosen(name) || ended.get(name) === true) &&
    (running.size === 0 || !(step.alone || [...running.keys()].some(({ alone }) => alone)));

  const heartbeat = setInterval(() => {
    if (performance.now() - spokenAt < HEARTBEAT_MS || running.size === 0) return;
    const names = [...running].map(([{ title }, at]) => `${title} (${seconds(at)})`);
    say(`${seconds(begun)}: ${names.join(', ')}`);
  }, 1000);
  const atOnce = Math.max(2, availableParallelism());
  const promises = new Set();
  while (waiting.length > 0 || running.size > 0) {
    for (let index = 0; index < waiting.length && running.size < atOnce; ) {
      const step = waiting[index];
      const failedBefore = step.after?.find((name) => ended.get(name) === false);
      if (failedBefore !== undefined) {
        waiting.splice(index, 1);
        ended.set(step.name, false);
        total.failed += 1;
        say(`FAILED ${step.title} (not run: ${failedBefore} has failed)`);
      } else if (mayStart(step)) {
        waiting.splice(index, 1);
        const promise = start(step).finally(() => promises.delete(promise));
        promises.add(promise);
      } else index += 1;
    }
    await Promise.race(promises);
  }
  clearInterval(heartbeat);
  const longest = times.toSorted(([, a], [, b]) => b - a).map(([title, time]) => [title, time.toFixed(1)]);
  const sum = times.reduce((total, [, time]) => total + time, 0);
  printTable(['step', 'seconds'], [...longest, ['all of them, one after the other', sum.toFixed(1)]]);
  for (const line of [...skipped, ...failures]) console.log(line);
  console.log(`in ${seconds(begun)}`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0;
}
