// A Fastify service that verifies tokens while their issuer is down: 401 for a bad token, 503 where there are no keys.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { errors, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { RefreshGroup } from 'tickless';
import { ticklessFastify } from 'tickless/fastify';
import { isJwksError, jwks } from 'tickless/jwks';

// The issuer, in this process: its metadata, and its set of keys.
const { privateKey, publicKey } = await generateKeyPair('ES256');
const jwk = { kid: '2026-11', use: 'sig', ...(await exportJWK(publicKey)) };
let isDown = false;
const server = createServer(({ url }, response) => {
  if (isDown) response.writeHead(503).end();
  else if (url === '/keys') response.end(JSON.stringify({ keys: [jwk] }));
  else response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
}).listen(0);
await once(server, 'listening');
const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
const tokenOf = (kid: string): Promise<string> =>
  new SignJWT({ sub: 'alice' })
    .setProtectedHeader({ alg: 'ES256', kid })
    .setIssuer(issuer)
    .setAudience('orders')
    .setExpirationTime('1h')
    .sign(privateKey);

// The service. Without `allowHttp`, only an issuer with TLS is asked.
const app = Fastify();
const group = new RefreshGroup();
await app.register(ticklessFastify, { group });
const keys = jwks(issuer, { group, required: true, allowHttp: true, logger: false });
app.get('/orders', async (request, reply) => {
  const token = request.headers.authorization?.replace(/^Bearer /i, '') ?? '';
  try {
    const { payload } = await jwtVerify(token, keys, { issuer, audience: 'orders' });
    return { orders: [], of: payload.sub };
  } catch (error) {
    const isBadToken = error instanceof errors.JOSEError || isJwksError(error);
    return reply.code(isBadToken ? 401 : 503).send({ code: (error as { code?: string }).code });
  }
});

async function get(kid: string): Promise<void> {
  const headers = { authorization: `Bearer ${await tokenOf(kid)}` };
  const { statusCode, payload } = await app.inject({ url: '/orders', headers });
  console.log(statusCode, payload);
}
await group.ready();
await get('2026-11');
await get('forged');
isDown = true;
await keys.member.refresh().catch(() => console.log('the issuer is down'));
await get('2026-11');
console.log(`ready: ${group.health().ok}, state of the keys: ${keys.member.inspect().state}`);
await app.close();
server.close();
