import type { Command } from 'commander';
import type { ActionName } from '../console/action-names.ts';
import { printable } from '../printable.ts';
import { addressOf, ConsoleClient, ConsoleError, notAllowed, type Session } from './client.ts';

/** The terminal, or what stands for it in tests. */
export interface Terminal {
  print(text: string): void;
  printError(text: string): void;
  /** Asks for a yes. `undefined`: there is no person to ask. */
  readonly confirm: ((question: string) => Promise<boolean>) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** 0: all is well; 1: a value is too stale, or reads fail; 2: the command was not carried out. */
export type ExitCode = 0 | 1 | 2;

/** The options of each command. */
export interface Common {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly json?: true;
}

/** The options of commands that change something. */
export interface Acting extends Common {
  readonly reason?: string;
  readonly yes?: true;
}

/** The part that all commands have in common: their options, the console that they ask, and their output. */
export class CommandLine {
  code: ExitCode = 0;
  readonly terminal: Terminal;
  readonly #program: Command;

  constructor(program: Command, terminal: Terminal) {
    this.#program = program;
    this.terminal = terminal;
  }

  command(name: string, description: string): Command {
    return this.#program
      .command(name)
      .description(description)
      .option('--url <address>', 'address of the console (default: TICKLESS_URL)')
      .option(
        '--header <header>',
        "'name: value', such as a token; may be repeated (default: TICKLESS_HEADER)",
        (header: string, others: readonly string[] = []) => [...others, header],
      )
      .option('--json', 'the answer of the API as it is');
  }

  /** A command that changes something. */
  acting(name: string, description: string): Command {
    return this.command(name, description)
      .option('--reason <text>', 'for the audit, and for other operators')
      .option('--yes', 'does not ask; needed without a terminal');
  }

  /** @throws {ConsoleError} where the address or the headers are not known. */
  clientOf({ url = this.terminal.env.TICKLESS_URL, header = [] }: Common): ConsoleClient {
    if (url === undefined)
      throw new ConsoleError(
        'the address of the console is missing: set TICKLESS_URL, or give --url http://localhost:3000/tickless',
      );
    const { TICKLESS_HEADER: own, TICKLESS_URL: home } = this.terminal.env;
    if (header.length > 0 || own === undefined) return new ConsoleClient({ url, headers: header });
    // It may be a secret, and another address may be that of a stranger.
    if (home === undefined || addressOf(home).origin !== addressOf(url).origin) {
      throw new ConsoleError(
        'TICKLESS_HEADER is sent to the origin of TICKLESS_URL only: set that to the address too',
      );
    }
    return new ConsoleClient({ url, headers: [own] });
  }

  /** Asks first, then carries it out. */
  async act(
    client: ConsoleClient,
    action: ActionName,
    { question, body }: { readonly question: string; readonly body: object },
    options: Acting,
  ): Promise<void> {
    const { confirm } = this.terminal;
    const session = await client.get<Session>('session');
    if (options.yes !== true) {
      if (!session.actions.includes(action))
        throw notAllowed(`${action} is not allowed: your rights leave it out`, action);
      if (confirm === undefined)
        throw new ConsoleError(
          `${question}\nWithout a terminal it can't ask, and has changed nothing: add --yes`,
        );
      if (!(await confirm(question))) throw new ConsoleError('nothing was changed');
    }
    const message = await client.act(action, { ...body, note: options.reason }, session);
    this.print({ message }, printable(message), options);
  }

  print(json: unknown, text: string, options: Common): void {
    this.terminal.print(options.json ? terminalJson(json) : text);
  }
}

/** JSON with the characters escaped that a terminal acts on: it escapes itself those below the space only. */
function terminalJson(data: unknown): string {
  return JSON.stringify(data, null, 2).replace(
    /[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
