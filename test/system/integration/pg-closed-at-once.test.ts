import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { postgresBackend } from '../../../src/backends/postgres.ts';
import { querySource } from '../../../src/sources/index.ts';
import { lockOf } from '../../support/parts.ts';

/** A message of the server in the protocol of PostgreSQL. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const WELCOME = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('Z', Buffer.from('I')),
  message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0')),
]);

it('a server that ends a connection in the packet that opens it fails what asked, not the process', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(WELCOME));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new pg.Pool({ host: '127.0.0.1', port, user: 'a', database: 'a', ssl: false });
  client.on('error', () => {});
  onTestFinished(async () => {
    await client.end();
    server.close();
  });
  const { signal } = new AbortController();
  await expect(querySource({ client, sql: 'SELECT 1' })({ signal })).rejects.toThrow('query failed: ');
  await expect(lockOf(postgresBackend({ client })).acquire({ name: 'a' })).rejects.toThrow();
});
