// npm run soak: does anything stay behind that should not? One hour of virtual time, and ten minutes of real time with
// real servers, both with faults: the heap after a forced collection, the objects that are still there, and at the end
// what is left of timers, listeners, sockets and connections. The last line is `N passed, N failed`, counted by check.
// A quarter of an hour; the first run installs drivers and servers.
//
//   --virtual --real         only that part
//   --minutes <number>       of virtual time. Default: 60
//   --seconds <number>       of real time. Default: 600
//   --seed <number>          of the virtual part's chance. Default: 1

import { join } from 'node:path';
import { register } from 'tsx/esm/api';
import { scriptArguments } from './support/arguments.mjs';
import { installDrivers, installServers } from './support/integration.mjs';
import { root } from './support/project.mjs';
import { run } from './support/run.mjs';

register();
const { soakReport } = await import('../test/system/soak/report.ts');

const { values } = scriptArguments({
  virtual: { type: 'boolean', default: false },
  real: { type: 'boolean', default: false },
  minutes: { type: 'string', number: 'a number over 0', default: '60' },
  seconds: { type: 'string', number: 'a number over 0', default: '600' },
  seed: { type: 'string', number: 'a number over 0', default: '1' },
});
const isAll = values.virtual === values.real;

const node = [process.execPath, '--import', import.meta.resolve('tsx')];
const VIRTUAL = {
  name: 'virtual',
  command: [
    ...[...node, '--expose-gc', join(root, 'test/system/soak/virtual/main.ts')],
    ...['--minutes', values.minutes, '--seed', values.seed],
  ],
  // Some seconds for each minute, more on a busy machine; a hang must end in a failure.
  timeoutMs: 60_000 + Number(values.minutes) * 60_000,
};
const REAL = {
  name: 'real',
  command: [...node, join(root, 'test/system/integration/soak/main.ts'), '--seconds', values.seconds],
  timeoutMs: 180_000 + Number(values.seconds) * 1000,
};
const parts = [...(isAll || values.virtual ? [VIRTUAL] : []), ...(isAll || values.real ? [REAL] : [])];

if (parts.includes(REAL)) {
  await installDrivers();
  installServers();
}

const total = { passed: 0, failed: 0 };
for (const { name, command, timeoutMs } of parts) {
  const { code, stdout, stderr, seconds } = await run(command, { timeoutMs });
  const verdict = code === 0 ? JSON.parse(stdout.trimEnd().split('\n').at(-1)) : undefined;
  if (verdict === undefined) {
    console.log(`failed: ${name}: ended with ${code}\n${stdout}${stderr}`);
    total.failed += 1;
    continue;
  }
  const passed = verdict.checks.filter(({ isOk }) => isOk).length;
  total.passed += passed;
  total.failed += verdict.checks.length - passed;
  console.log(`${stderr}${soakReport(verdict)}\n\nin ${seconds.toFixed(0)} s\n`);
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
