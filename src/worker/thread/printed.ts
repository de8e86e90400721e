/** Nobody may read what the process prints. */
const LONGEST_MS = 1000;

/**
 * Waits until what was printed has left the thread: it goes through the main thread, and would be lost when this one is
 * ended.
 */
export async function printed(): Promise<void> {
  const streams = [process.stdout, process.stderr].filter(({ writableLength }) => writableLength > 0);
  if (streams.length === 0) return;
  const gone = streams.map((stream) => new Promise<unknown>((resolve) => stream.write('', resolve)));
  const tooLong = new Promise((resolve) => setTimeout(resolve, LONGEST_MS));
  await Promise.race([Promise.all(gone), tooLong]);
}
