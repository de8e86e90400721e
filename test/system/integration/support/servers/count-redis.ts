import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { CommandCount } from './kind.ts';

/** Counts what `MONITOR` shows, from the first call on. */
export function countRedisCommands(port: number): CommandCount {
  let count = 0;
  let marker = 0;
  let sockets: { readonly monitor: Socket; readonly asking: Socket } | undefined;
  const arrivals = new Map<string, () => void>();

  async function open(): Promise<NonNullable<typeof sockets>> {
    const [monitor, asking] = await Promise.all([connected(port), connected(port)]);
    const own = `:${asking.localPort}]`;
    const lines = createInterface({ input: monitor });
    monitor.write('MONITOR\r\n');
    await once(lines, 'line');
    // +1795232949.676026 [0 127.0.0.1:33904] "evalsha" "…", and [0 lua] for what a script calls.
    lines.on('line', (line) => {
      const caller = line.slice(0, line.indexOf('"')).trimEnd();
      if (caller.endsWith(own)) arrivals.get(line.split('"').at(-2) ?? '')?.();
      else if (!caller.endsWith(' lua]')) count += 1;
    });
    return { monitor, asking };
  }

  return {
    async served() {
      sockets ??= await open();
      const text = `marker-${++marker}`;
      const arrived = new Promise<void>((resolve) => arrivals.set(text, resolve));
      sockets.asking.write(`ECHO ${text}\r\n`);
      await arrived; // thus all before it has been counted
      arrivals.delete(text);
      return count;
    },
    close() {
      sockets?.monitor.destroy();
      sockets?.asking.destroy();
    },
  };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {}); // the server was killed
  socket.resume();
  return socket;
}
