const warned: Set<string> = new Set();

/** Warns about a client that will not leave a server which is not the primary any more; each line once in a process. */
export function warnOnce(line: string): void {
  if (warned.has(line)) return;
  warned.add(line);
  console.warn(`tickless: ${line}`);
}
