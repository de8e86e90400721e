import { between, rejects, same } from '../../../src/testing/assert.ts';
import { sleep } from '../../../src/testing/conformance.ts';
import { type Case, type StoreCaseContext, TOKEN, testCase } from './case-context.ts';

/** A case of stores that can confirm a version. */
function confirmCase(
  name: string,
  run: (
    context: StoreCaseContext,
    confirm: (version: number, text: string) => Promise<{ kind: string; version: number }>,
  ) => Promise<void>,
): Case {
  return testCase(`confirm: ${name}`, async (context) => {
    const { store } = context;
    if (store.confirm === undefined) return;
    const confirm = store.confirm.bind(store);
    await run(context, (version, text) => {
      context.willWrite(context.name);
      return confirm(context.name, version, text);
    });
  });
}

/** Texts beside the present version. */
export const CONFIRM: readonly Case[] = [
  confirmCase('is read with the snapshot, which stays as it is', async (context, confirm) => {
    await context.written('payload', TOKEN);
    same((await context.snapshot()).confirmation, undefined, 'a confirmation before the first');
    await sleep(2 * context.unit);
    const answer = await confirm(TOKEN, 'grüße {"a":1}');
    same(answer.kind, 'written', 'the answer');
    same(answer.version, TOKEN, 'its version');
    await context.isStored('payload', TOKEN, 'a confirmed snapshot');
    const { age, confirmation } = await context.snapshot();
    same(confirmation?.text, 'grüße {"a":1}', 'the text');
    const difference = age - (confirmation?.age as number);
    between(difference, context.unit, 100 * context.unit, 'the difference of the ages');
    await confirm(TOKEN, 'once more');
    same((await context.snapshot()).confirmation?.text, 'once more', 'the text of the next one');
  }),

  confirmCase('is refused where another version is present, or none', async (context, confirm) => {
    same((await confirm(TOKEN, 'of nothing')).kind, 'refused', 'the answer without a snapshot');
    same(await context.other.read(context.name), undefined, 'the snapshot after that');
    await context.written('newer', TOKEN + 1);
    for (const version of [TOKEN, TOKEN + 2]) {
      const answer = await confirm(version, 'of another version');
      same(answer.kind, 'refused', 'the answer for another version');
      same(answer.version, TOKEN + 1, 'the present version');
    }
    same((await context.snapshot()).confirmation, undefined, 'the confirmation after that');
  }),

  confirmCase('empty and long texts are refused', async (context, confirm) => {
    await context.written('one', TOKEN);
    for (const text of ['', 'x'.repeat(4097)])
      await rejects(confirm(TOKEN, text), 'OPTION', `a text of ${text.length} characters`);
    await confirm(TOKEN, 'x'.repeat(4096));
    same((await context.snapshot()).confirmation?.text.length, 4096, 'the length of the text');
  }),
];
