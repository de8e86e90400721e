import { launch, openPage } from './browser.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const browser = await launch();
const out = '/work/wt/console/.tmp';
const { page, wrong } = await openPage(browser, world.url);
await page.waitForSelector('.row a');
await new Promise((r) => setTimeout(r, 1500));
await world.read();
await new Promise((r) => setTimeout(r, 1500));
await page.screenshot({ path: `${out}/overview-light.png` });
const go = async (name: string) => {
  await page.getByRole('link', { name, exact: true }).click();
  await page.waitForSelector('.cards');
  await new Promise((r) => setTimeout(r, 700));
};
await go('prices');
await world.instances[0]!.prices.refresh();
world.source.isDown = true;
await world.instances[0]!.prices.refresh().catch(() => {});
world.source.isDown = false;
await world.instances[1]!.prices.refresh();
await new Promise((r) => setTimeout(r, 1500));
await page.screenshot({ path: `${out}/prices-light.png`, fullPage: true });
await page.emulateMedia({ colorScheme: 'dark' });
await new Promise((r) => setTimeout(r, 700));
await page.screenshot({ path: `${out}/prices-dark.png`, fullPage: true });
await page.goto(`${world.url}#/members`);
await page.waitForSelector('.row a');
await page.screenshot({ path: `${out}/overview-dark.png` });
await page.setViewportSize({ width: 390, height: 800 });
await new Promise((r) => setTimeout(r, 500));
await page.screenshot({ path: `${out}/overview-narrow.png` });
await page.emulateMedia({ colorScheme: 'light' });
await go('suppliers');
await page.screenshot({ path: `${out}/suppliers-narrow.png`, fullPage: true });
await page.setViewportSize({ width: 1400, height: 900 });
await page.goto(`${world.url}#/locks`);
await new Promise((r) => setTimeout(r, 1000));
await page.screenshot({ path: `${out}/locks.png` });
await page
  .getByRole('button', { name: /Release/ })
  .first()
  .click();
await new Promise((r) => setTimeout(r, 300));
await page.screenshot({ path: `${out}/dialog.png` });
console.log(wrong);
await browser.close();
await world.close();
