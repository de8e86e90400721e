/** The output of the process may go to a pipe that no program reads. */
const LONGEST_MS = 1000;

/**
 * Waits until the output of the thread has left it: output goes through the main thread, and is lost when this thread
 * is terminated before.
 */
export async function flushOutput(): Promise<void> {
  const streams = [process.stdout, process.stderr].filter(({ writableLength }) => writableLength > 0);
  if (streams.length === 0) return;
  const flushed = streams.map((stream) => new Promise<unknown>((resolve) => stream.write('', resolve)));
  const timeout = new Promise((resolve) => setTimeout(resolve, LONGEST_MS));
  await Promise.race([Promise.all(flushed), timeout]);
}
