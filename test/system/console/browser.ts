import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';

/** Debian's, unless told otherwise. */
const PROGRAM = process.env.TICKLESS_CHROMIUM ?? '/usr/bin/chromium';

export function launch(): Promise<Browser> {
  // Root has no sandbox of its own; a container has a small /dev/shm.
  return chromium.launch({
    executablePath: PROGRAM,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

/** A page that fails the test when it breaks its policy, throws, or asks for anything elsewhere. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What went wrong. */
  readonly wrong: string[];
}

export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong: string[] = [];
  const origin = new URL(url).origin;
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('console', (line) => {
    if (line.type() === 'error' && !line.text().includes('Failed to load resource')) wrong.push(line.text());
  });
  page.on('request', (request) => {
    const asked = request.url();
    if (!asked.startsWith(origin) && !asked.startsWith('data:')) wrong.push(`asked for ${asked}`);
  });
  await page.goto(url);
  return { page, context, wrong };
}

/** An event of a trace, as far as it is read. Microseconds; `tdur` is the time of the processor. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ph: string;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * The tasks of the page's main thread while an action runs. Their length is the time of the processor, so that other
 * processes of the machine do not count.
 *
 * @returns those over 50 ms, in milliseconds, and how many there were.
 */
export async function tasksDuring<T>(
  browser: Browser,
  page: Page,
  action: () => Promise<T>,
): Promise<{ readonly result: T; readonly long: readonly number[]; readonly count: number }> {
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  const result = await action();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  const events = trace.traceEvents;
  const main = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = events.filter(
    ({ name, ph, pid, tid }) => ph === 'X' && name.endsWith('RunTask') && main.has(`${pid} ${tid}`),
  );
  const lengths = tasks.map(({ tdur = 0 }) => tdur / 1000);
  return { result, long: lengths.filter((ms) => ms > 50), count: lengths.length };
}
