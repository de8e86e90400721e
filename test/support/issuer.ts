import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';

/** How an issuer answers. A function answers as it likes. */
export type Behaviour =
  | 'ok'
  | 'unavailable'
  | 'cut'
  | 'hangs'
  | 'drips'
  | 'garbage'
  | 'empty'
  | 'moved'
  | ((request: IncomingMessage, response: ServerResponse) => void);

/** A key that the issuer signs with. */
export interface SigningKey {
  readonly alg: string;
  /** `undefined`: it has no name. */
  readonly kid: string | undefined;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

const pairs = new Map<string, Promise<{ readonly privateJwk: JWK; readonly publicJwk: JWK }>>();

/** A key. The material is the same for the same type of key and `seed`, because RSA keys take long to make. */
export async function signingKey(
  alg: string,
  kid: string | undefined,
  seed: string = kid ?? '',
): Promise<SigningKey> {
  const type = /^[RP]S/.test(alg) ? 'RS256' : alg;
  const made = pairs.get(`${type} ${seed}`) ?? newPair(type);
  pairs.set(`${type} ${seed}`, made);
  const { privateJwk, publicJwk } = await made;
  const privateKey = (await importJWK(privateJwk, alg)) as CryptoKey;
  const name = kid === undefined ? {} : { kid };
  return { alg, kid, privateKey, publicJwk: { ...publicJwk, ...name, alg, use: 'sig' } };
}

async function newPair(alg: string): Promise<{ readonly privateJwk: JWK; readonly publicJwk: JWK }> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { privateJwk: await exportJWK(privateKey), publicJwk: await exportJWK(publicKey) };
}

/** An issuer on loopback that signs tokens, publishes its keys, counts the requests, and fails as it is told to. */
export class Issuer {
  readonly #server: Server;
  /** Its keys are these; other members may be put in. */
  published: unknown[] = [];
  /** What it says in its metadata beside the defaults; `undefined` values are left out. */
  metadata: Record<string, unknown> = {};
  behaviour: Behaviour = 'ok';
  headers: Record<string, string> = {};
  /** The paths that were asked for. */
  requests: string[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(...keys: readonly SigningKey[]): Promise<Issuer> {
    const server = createServer((request, response) => issuer.#answer(request, response));
    const issuer = new Issuer(server);
    issuer.published = keys.map(({ publicJwk }) => publicJwk);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get jwksUrl(): string {
    return `${this.url}/keys`;
  }

  /** The requests since the last call. */
  take(): string[] {
    const taken = this.requests;
    this.requests = [];
    return taken;
  }

  async sign(key: SigningKey, claims: Record<string, unknown> = {}): Promise<string> {
    const header = { alg: key.alg, ...(key.kid === undefined ? {} : { kid: key.kid }) };
    return await new SignJWT({ iss: this.url, sub: 'alice', ...claims })
      .setProtectedHeader(header)
      .sign(key.privateKey);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push(request.url ?? '');
    for (const [name, value] of Object.entries(this.headers)) response.setHeader(name, value);
    if (typeof this.behaviour === 'function') {
      this.behaviour(request, response);
      return;
    }
    switch (this.behaviour) {
      case 'unavailable':
        response.writeHead(503).end('try later');
        return;
      case 'cut':
        request.socket.destroy();
        return;
      case 'hangs':
        return;
      case 'drips':
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"keys":[');
        return;
      case 'garbage':
        response.end('<html>maintenance</html>');
        return;
      case 'empty':
        response.end('{"keys":[]}');
        return;
      case 'moved':
        response.writeHead(302, { location: `${this.url}/elsewhere` }).end();
        return;
      case 'ok':
        this.#answerWell(request.url, response);
    }
  }

  #answerWell(path: string | undefined, response: ServerResponse): void {
    if (path === '/keys' || path === '/elsewhere') response.end(JSON.stringify({ keys: this.published }));
    else if (path === '/.well-known/openid-configuration') {
      response.end(JSON.stringify({ issuer: this.url, jwks_uri: this.jwksUrl, ...this.metadata }));
    } else response.writeHead(404).end();
  }
}

/** A token with this header, and with a signature that nobody has made. */
export function forged(header: object, claims: object = { sub: 'mallory' }): string {
  const part = (of: object): string => Buffer.from(JSON.stringify(of)).toString('base64url');
  return `${part(header)}.${part(claims)}.${Buffer.alloc(64, 1).toString('base64url')}`;
}
