import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { runFixture } from './support/child.ts';
import { ownKinds } from './support/own-server.ts';

// unavailable.test.ts shows that servers freeze, die, restart and lose their data; commands.test.ts that they count.

function refuses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(true));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}

it('servers end with the process that started them, however it ends', async ({ skip }) => {
  skip(ownKinds.length !== 3, 'some servers are given by environment variables, so they are not ours to end');
  const { signal, lines } = await runFixture('abandon');
  expect(signal).toBe('SIGKILL');
  const ports = JSON.parse(lines.at(-1) ?? '') as number[];
  expect(ports).toHaveLength(3);
  for (const port of ports) {
    while (!(await refuses(port))) await sleep(20); // until the test's own timeout
  }
});
