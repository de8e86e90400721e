import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

// Seconds are counted here: where the machine does not let this thread run, the test had no time either.
const { beats, name, seconds, verdict } = workerData;
let before = -1;
let still = 0;
setInterval(() => {
  const now = Atomics.load(beats, 0);
  still = now === before ? still + 1 : 0;
  before = now;
  if (still < seconds) return;
  const test = new TextDecoder().decode(name.slice(0, name.indexOf(0)));
  writeSync(1, `\n${verdict}: ${test}: it has blocked its process for ${seconds} s, which is killed\n`);
  process.kill(process.pid, 'SIGKILL');
}, 1000);
