import { execFile } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';

const client = `
  const { EtcdClient } = await import(${JSON.stringify(new URL('../../../src/backends/etcd/etcd-client.ts', import.meta.url).href)});
  setInterval(gc, 100).unref();
  // As after the collection: the body has no signal any more.
  const parted = (url, { signal, ...init }) => fetch(url, init);
  const etcd = new EtcdClient({ endpoints: process.argv[1], timeout: 150, fetch: parted });
  const error = await etcd.send('kv/range', {}).catch((error) => error);
  console.log(error.name);
  process.exit();`;

for (const [what, answer] of Object.entries({
  'stalls after its headers': (response: ServerResponse) => response.flushHeaders(),
  'drips a byte a second': (response: ServerResponse) => {
    const timer = setInterval(() => response.write(' '), 1000);
    response.on('close', () => clearInterval(timer)).write('{');
  },
})) {
  it(`a body of etcd that ${what} is given up at the deadline, also where it is parted from its signal`, {
    timeout: 40_000,
  }, async () => {
    const server = createServer((_, response) => answer(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const args = ['--expose-gc', '--import', 'tsx', '--input-type=module', '-e', client, url];
    const out = await new Promise<string>((resolve) =>
      execFile(process.execPath, args, { timeout: 35_000 }, (_, stdout) => resolve(stdout)),
    );
    server.closeAllConnections();
    server.close();
    expect(out.trim()).toBe('TimeoutError');
  });
}
