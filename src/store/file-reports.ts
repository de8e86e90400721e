import { type InstanceReport, MOST_REPORTS, type StoredReport } from '../cluster/store-contract.ts';
import { isInstant, isMoment, type MachineClock, type Moment, passedSince } from '../files/machine-clock.ts';
import { type FileOptions, NumberedFiles } from '../files/numbered-files.ts';
import { Sweep, type Visited } from '../files/sweep.ts';

/** Of a report of 64 kB with its header. */
const LONGEST_BYTES = 128 * 1024;

/** The number of the one file in the folder of an instance. */
const ONLY = 1;

/** How long a report is kept after it has expired: an instance that goes on may be replacing it just then. */
const GONE_AFTER_MS = 60_000;

/** First line of a file. The text follows. */
interface Header extends Moment {
  /** The name of a folder may contain only its hash. */
  readonly instance: string;
  readonly keepFor: number;
  /** Length of the text in UTF-16 code units, to detect a truncated file. */
  readonly length: number;
}

/** The reports of instances: a folder for each, with one file. */
export class FileReports {
  readonly #files: NumberedFiles;
  readonly #clock: MachineClock;
  readonly #sweep: Sweep;

  constructor(options: FileOptions, clock: MachineClock) {
    this.#files = new NumberedFiles('store', options, {
      ...{ folder: 'report-', file: '.report', longest: LONGEST_BYTES },
    });
    this.#clock = clock;
    const folders = async () => (await this.#files.folders()).map(({ folder }) => folder);
    this.#sweep = new Sweep(folders, (folder) => this.#forget(folder), Infinity);
  }

  async write({ instance, text, keepFor }: InstanceReport): Promise<void> {
    const header: Header = { ...this.#clock.now(), instance, keepFor, length: text.length };
    const content = `${JSON.stringify(header)}\n${text}`;
    await this.#files.replace(this.#files.folderOf(instance), ONLY, content, 'kill');
    this.#sweep.step(true);
  }

  /** Those of instances that begin with a text. */
  async list(beginning: string): Promise<StoredReport[]> {
    const reports: StoredReport[] = [];
    for (const { folder, name } of await this.#files.folders()) {
      if (reports.length === MOST_REPORTS) break;
      if (name?.startsWith(beginning) === false) continue;
      const found = await this.#read(folder);
      if (found === undefined || !found.isPresent || !found.report.instance.startsWith(beginning)) continue;
      reports.push(found.report);
    }
    return reports;
  }

  /** @returns `undefined`: there is none, or its file is not one of ours. */
  async #read(
    folder: string,
  ): Promise<{ report: StoredReport; isPresent: boolean; isGone: boolean } | undefined> {
    const { numbers } = await this.#files.list(folder); // checks that the folder is to be trusted
    const content = numbers.includes(ONLY) ? await this.#files.read(folder, ONLY) : undefined;
    const parts = content === undefined ? undefined : parsed(content);
    if (parts === undefined || this.#files.folderOf(parts.header.instance) !== folder) return undefined;
    const { header, text } = parts;
    const age = passedSince(header, this.#clock.now());
    const isPresent = Math.abs(age) < header.keepFor;
    const isGone = Math.abs(age) >= header.keepFor + GONE_AFTER_MS;
    return { report: { instance: header.instance, text, age }, isPresent, isGone };
  }

  async #forget(folder: string): Promise<Visited> {
    const found = await this.#read(folder);
    if (found?.isGone === false) return 'brief';
    const listing = await this.#files.list(folder);
    return this.#files.sweep(folder, listing, found === undefined ? [] : [ONLY]);
  }
}

function parsed(content: string): { readonly header: Header; readonly text: string } | undefined {
  try {
    const end = content.indexOf('\n');
    const header = JSON.parse(content.slice(0, end));
    const text = content.slice(end + 1);
    const isOwn = isMoment(header) && typeof header.instance === 'string' && isInstant(header.keepFor);
    return isOwn && header.length === text.length ? { header, text } : undefined;
  } catch {
    return undefined;
  }
}
