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
