import { type Conversation, cutter, type Request } from './conversation.ts';

/** RESP 2 and 3: a request is an array of strings, and one command. */
export function redisConversation(): Conversation {
  const requests = cutter(endOfValue);
  const answers = cutter(endOfValue);
  return {
    fromClient: (bytes) => requests(bytes).map(({ unit }) => requestOf(unit)),
    // What is pushed is no answer.
    fromServer: (bytes) => answers(bytes).flatMap(({ unit, end }) => (unit[0] === PUSH ? [] : [end])),
  };
}

const PUSH = '>'.charCodeAt(0);

function requestOf(unit: Buffer): Request {
  const words: string[] = [];
  let offset = unit.indexOf('\r\n') + 2; // *3
  while (offset < unit.length) {
    const line = unit.indexOf('\r\n', offset); // $5
    const begin = line + 2;
    const end = begin + Number(unit.toString('latin1', offset + 1, line));
    words.push(unit.toString('latin1', begin, end));
    offset = end + 2;
  }
  return { text: words.join(' '), commands: 1 };
}

function endOfValue(bytes: Buffer, offset: number): number | undefined {
  const line = bytes.indexOf('\r\n', offset);
  if (line < 0) return undefined;
  const end = line + 2;
  const length = Number(bytes.toString('latin1', offset + 1, line));
  switch (String.fromCharCode(bytes[offset] as number)) {
    case '$': // a string of bytes, an error of bytes, a verbatim string
    case '!':
    case '=':
      return length < 0 ? end : end + length + 2;
    case '*': // an array, a set, a push
    case '~':
    case '>':
      return endOfValues(bytes, end, length);
    case '%': // a map
      return endOfValues(bytes, end, 2 * length);
    case '|': // attributes of the value that follows
      return endOfValues(bytes, end, 2 * length + 1);
    default: // a line
      return end;
  }
}

function endOfValues(bytes: Buffer, offset: number, count: number): number | undefined {
  let end: number | undefined = offset;
  for (let i = 0; i < count && end !== undefined; i++) {
    end = end < bytes.length ? endOfValue(bytes, end) : undefined;
  }
  return end;
}
