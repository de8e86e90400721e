import type { RedisConnection } from './client.ts';

/**
 * Beginning of all scripts. `KEYS[1]` is the only key they access, `ARGV[1]` its retention in milliseconds. Instants are
 * whole microseconds by the server's clock, exact in a double; `digits` writes them out, since Lua's default number
 * format would round them.
 */
const PRELUDE = `
local key, retention = KEYS[1], tonumber(ARGV[1])
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local most = 9007199254740991

-- nil if it is not a whole number
local function whole(text)
  local number = text and tonumber(text)
  if number and number >= 0 and number < most then return math.floor(number) end
end

local function digits(number)
  return string.format('%.0f', number)
end

-- the instant ms milliseconds from now
local function after(ms)
  return math.min(now + math.ceil(tonumber(ms) * 1000), most - 1)
end

-- sets the key to expire when the retention is over, counted from that instant
local function keep(till)
  local ms = math.ceil((till - now) / 1000 + retention)
  if ms > 1e15 then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, digits(ms)) end
end
`;

/** A script that the server runs atomically. */
export class Script {
  readonly #text: string;
  #digest: Promise<string> | undefined;

  constructor(text: string) {
    this.#text = PRELUDE + text;
  }

  /** Sends one command; two if the server does not have the script, or has lost it. */
  async run(
    connection: RedisConnection,
    key: string,
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<unknown> {
    this.#digest ??= digestOf(this.#text);
    const digest = await this.#digest;
    try {
      return await connection.script('evalsha', digest, key, args, signal);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      signal.throwIfAborted();
      return await connection.script('eval', this.#text, key, args, signal);
    }
  }
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

async function digestOf(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
