import type { RedisConnection } from './client.ts';

/**
 * What all scripts begin with. `KEYS[1]` is the one key that they touch, `ARGV[1]` how long it is kept, in milliseconds.
 * Instants are whole microseconds by the clock of the server, which a double holds exactly; the server's own way to
 * write a number would round them.
 */
const PRELUDE = `
local key, retention = KEYS[1], tonumber(ARGV[1])
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local most = 9007199254740991

-- nil where it is none
local function whole(text)
  local number = text and tonumber(text)
  if number and number >= 0 and number < most then return math.floor(number) end
end

local function digits(number)
  return string.format('%.0f', number)
end

-- so many milliseconds from now
local function after(ms)
  return math.min(now + math.ceil(tonumber(ms) * 1000), most - 1)
end

-- forgets the key when it has not been used for the retention after that
local function keep(till)
  local ms = math.ceil((till - now) / 1000 + retention)
  if ms > 1e15 then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, digits(ms)) end
end
`;

/** A script that runs at the server in one step. */
export class Script {
  readonly #text: string;
  #digest: Promise<string> | undefined;

  constructor(text: string) {
    this.#text = PRELUDE + text;
  }

  /** One command; two where the server does not know the script yet, or has forgotten it. */
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
