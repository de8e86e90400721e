import { type Conversation, cutter, type Request } from './conversation.ts';

const QUERY = 0x03;
const PREPARE = 0x16;
const EXECUTE = 0x17;
/** COM_QUIT, COM_STMT_SEND_LONG_DATA, COM_STMT_CLOSE */
const WITHOUT_ANSWER: readonly number[] = [0x01, 0x18, 0x19];

/**
 * The protocol of MySQL and MariaDB: a query is one command; so is the execution of a prepared statement. No request is
 * sent before the answer to the one before, so that all from then on is the answer. By its first bytes the server has
 * done what was asked: it sends them when it ends.
 */
export function mysqlConversation(): Conversation {
  let unanswered = 0;
  let preparing: string | undefined;
  const statements = new Map<number, string>();
  const sent = cutter(endOfPacket);

  function requestOf(packet: Buffer): Request[] {
    const isRequest = packet[3] === 0; // the others belong to the greeting
    const code = packet[4] as number;
    if (!isRequest || WITHOUT_ANSWER.includes(code)) return [];
    unanswered += 1;
    const body = packet.toString('latin1', 5);
    if (code === PREPARE) preparing = body;
    if (code === QUERY) return [{ text: body, commands: 1 }];
    if (code !== EXECUTE) return [{ text: body, commands: 0 }];
    return [{ text: `${statements.get(packet.readUInt32LE(5)) ?? ''}${body}`, commands: 1 }];
  }

  return {
    fromClient: (bytes) => sent(bytes).flatMap(({ unit }) => requestOf(unit)),
    fromServer(bytes) {
      if (unanswered === 0) return []; // the greeting, or more of an answer
      unanswered = 0;
      const isOk = bytes.length >= 9 && bytes[4] === 0;
      if (preparing !== undefined && isOk) statements.set(bytes.readUInt32LE(5), preparing);
      preparing = undefined;
      return [bytes.length];
    },
  };
}

function endOfPacket(bytes: Buffer, offset: number): number | undefined {
  return offset + 4 > bytes.length ? undefined : offset + 4 + bytes.readUIntLE(offset, 3);
}
