import type { RedisConnection } from './client.ts';

/**
 * Beginning of all scripts. `key` is the key at hand, `micros` the server's clock in whole microseconds; numbers that are exact in a
 * double are written out by `digits`, since Lua's default number format would round them.
 */
const PRELUDE = `
local key
local clock = redis.call('TIME')
local function digits(number)
  return string.format('%.0f', number)
end
local micros = digits(clock[1] * 1000000 + clock[2])

-- the keys that the script has changed
local done = {}

-- sets the key to expire after that many milliseconds; the longest times are without end
local function keep(ms)
  if ms >= 9e14 then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, digits(ms)) end
end
`;

/**
 * End of all scripts: takes the step for each key in turn, and returns a reply for each. In `ARGV` the number of its own
 * arguments stands before those of each key; a step finds them from `ARGV[1]` on. A key of another type fails alone, unless
 * it is the only one.
 */
const EACH_KEY = `
-- an error begins with the code of the server: raised again it would get the code ERR before that
local function attempt(own)
  local done, reply = pcall(step, own)
  local message = type(reply) == 'table' and reply.err or not done and tostring(reply)
  if not message then return reply end
  if #KEYS > 1 and string.find(message, 'WRONGTYPE', 1, true) then return {'failed', message} end
  return {err = string.find(message, '^%u+ ') and message or 'ERR ' .. message}
end

local replies, at = {}, 1
for i = 1, #KEYS do
  key = KEYS[i]
  local own = {}
  for j = 1, tonumber(ARGV[at]) do own[j] = ARGV[at + j] end
  at = at + #own + 1
  local reply = attempt(own)
  if type(reply) == 'table' and reply.err then return reply end
  replies[i] = reply
end
return replies
`;

/** A key and the arguments of a script for it. */
export interface KeyCall {
  readonly key: string;
  readonly args: readonly string[];
}

/** A name and the arguments of a script for it. */
export interface NameCall {
  readonly name: string;
  readonly args: readonly string[];
}

/** A script that the server runs atomically, for one key or for several. */
export class Script {
  readonly #text: string;
  #digest: Promise<string> | undefined;
  /** Those over which the server was sent the text. */
  readonly #sentOver: WeakSet<RedisConnection> = new WeakSet();

  /** @param step the body of a Lua function; it must not return `nil`. */
  constructor(step: string) {
    this.#text = `${PRELUDE}\nlocal function step(ARGV)\n${step}\nend\n${EACH_KEY}`;
  }

  /**
   * Sends one command: with the text of the script the first time, then with its digest; two if the server has lost the
   * script since, or is another one.
   *
   * @returns the reply for each key; an `Error`: that key alone has failed.
   */
  async run(connection: RedisConnection, calls: readonly KeyCall[], signal: AbortSignal): Promise<unknown[]> {
    const keys = calls.map(({ key }) => key);
    const args = calls.flatMap(({ args }) => [String(args.length), ...args]);
    const replies = await this.#send(connection, keys, args, signal);
    if (!Array.isArray(replies)) throw new Error(`unexpected reply of a script: ${String(replies)}`);
    return replies.map((reply) =>
      Array.isArray(reply) && reply[0] === 'failed' ? new Error(String(reply[1])) : reply,
    );
  }

  async #send(
    connection: RedisConnection,
    keys: readonly string[],
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<unknown> {
    this.#digest ??= digestOf(this.#text);
    const digest = await this.#digest;
    if (!this.#sentOver.has(connection)) {
      const replies = await connection.script('eval', this.#text, keys, args, signal);
      this.#sentOver.add(connection);
      return replies;
    }
    try {
      return await connection.script('evalsha', digest, keys, args, signal);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      signal.throwIfAborted();
      return await connection.script('eval', this.#text, keys, args, signal);
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
