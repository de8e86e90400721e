import type { RealServerKind, ServerKind, StartOptions } from './server.ts';

/** Where a server runs. */
export interface Place {
  /** A temporary directory, its own. */
  readonly directory: string;
  /** Of 127.0.0.1. */
  readonly port: number;
}

/** A command line. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** Whose process it is. @default ours */
  readonly as?: { readonly uid: number; readonly gid: number } | undefined;
}

/** Counts commands, see `RealServer.commandsServed`. */
export interface CommandCount {
  served(): Promise<number>;
  close(): void;
}

/** What is particular to an engine. */
export interface Kind<K extends RealServerKind = ServerKind> {
  readonly kind: K;
  readonly label: string;
  readonly version: string;
  /** Whether it can be started again with the data that it held when it was killed. */
  readonly keepsData: boolean;
  /** What it prints when it takes commands. */
  readonly saysReady: RegExp;
  /** What ends it at once, so that nothing of it is left in the system. @default SIGKILL */
  readonly endsBy?: NodeJS.Signals;
  /** Takes back what else the system keeps for it when it was killed and its data go. Never throws. */
  forget?(place: Place): void;
  /** Fills an empty place with what it starts from. @default with nothing */
  initialise?(place: Place): Promise<void>;
  command(place: Place, options: StartOptions): Command;
  url(place: Place): string;
  /** @param lines called for each line that it prints from now on. @default it can't be asked */
  count?(place: Place, onLine: (listener: (line: string) => void) => void): CommandCount;
}
