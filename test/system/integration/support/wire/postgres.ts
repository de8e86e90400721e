import { type Conversation, cutter, type Request } from './conversation.ts';

const SSL_REQUEST = 80877103;
const QUERY = 'Q';
const PARSE = 'P';
const BIND = 'B';
const EXECUTE = 'E';
const SYNC = 'S';
const READY = 'Z'.charCodeAt(0);

/**
 * The protocol 3 of PostgreSQL: a simple query is one command; so is an execution of the extended protocol. What ends in
 * one `ReadyForQuery` is one request.
 */
export function postgresConversation(): Conversation {
  let hasBegun = false;
  let asksForSsl = false;
  let text = '';
  let commands = 0;
  const statements = new Map<string, string>();
  const sent = cutter((bytes, offset) => endOfMessage(bytes, offset, hasBegun ? 1 : 0));
  const answered = cutter((bytes, offset) => (asksForSsl ? offset + 1 : endOfMessage(bytes, offset, 1)));

  function ended(): Request {
    const request = { text, commands };
    text = '';
    commands = 0;
    return request;
  }

  /** The first messages of a connection have no type. */
  function onBegin(message: Buffer): Request[] {
    asksForSsl = message.readInt32BE(4) === SSL_REQUEST;
    hasBegun = !asksForSsl;
    return [{ text: '', commands: 0 }];
  }

  function onMessage(message: Buffer): Request[] {
    const type = String.fromCharCode(message[0] as number);
    const body = message.toString('latin1', 5);
    const [first = '', second = ''] = body.split('\0', 2);
    if (type === PARSE) statements.set(first, second);
    if (type === QUERY || type === PARSE) text += body;
    // A statement that was parsed before, by its name, with its parameters.
    if (type === BIND) text += `${statements.get(second) ?? ''}${body}`;
    if (type === QUERY || type === EXECUTE) commands += 1;
    return type === QUERY || type === SYNC ? [ended()] : [];
  }

  return {
    fromClient(bytes) {
      // The first messages, which are of another shape, come alone: the client waits for an answer to each.
      return sent(bytes).flatMap(({ unit }) => (hasBegun ? onMessage(unit) : onBegin(unit)));
    },
    fromServer(bytes) {
      return answered(bytes).flatMap(({ unit, end }) => {
        const isAnswer = asksForSsl || unit[0] === READY;
        asksForSsl = false;
        return isAnswer ? [end] : [];
      });
    },
  };
}

/** @param skip the bytes before the length */
function endOfMessage(bytes: Buffer, offset: number, skip: 0 | 1): number | undefined {
  if (offset + skip + 4 > bytes.length) return undefined;
  return offset + skip + bytes.readInt32BE(offset + skip);
}
