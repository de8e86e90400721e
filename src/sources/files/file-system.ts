/** The used part of `node:fs/promises`. Without the types of Node: this module is also imported where there is no file system. */
export interface FileSystem {
  readonly constants: Readonly<Partial<Record<'O_RDONLY' | 'O_NONBLOCK' | 'O_NOCTTY', number>>>;
  stat(path: string | URL, options: { readonly bigint: true }): Promise<FileState>;
  open(path: string | URL, flags: number): Promise<OpenFile>;
}

export interface OpenFile {
  stat(options: { readonly bigint: true }): Promise<FileState>;
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: null,
  ): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

/** The used part of the state of a file, its times in nanoseconds since 1970. */
export interface FileState {
  readonly size: bigint;
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly birthtimeNs: bigint;
  isFile(): boolean;
  isDirectory(): boolean;
}

interface Global {
  readonly process?: { getBuiltinModule?(id: 'node:fs/promises'): FileSystem | undefined };
}

/** @throws where the runtime has none: browsers, workers at the edge. */
export function fileSystem(): FileSystem {
  const found = (globalThis as Global).process?.getBuiltinModule?.('node:fs/promises');
  if (found === undefined) throw new Error('this runtime has no file system (node:fs)');
  return found;
}
