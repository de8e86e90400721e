import { checked, namesArgument, ownOptions } from '../option-checks.ts';
import type { StandardSchema } from '../schema.ts';
import { editionOf } from './edition.ts';
import { checkTargeting, type TargetingOptions } from './targeting.ts';

/** The options of {@link flagsSchema}: those of the provider. */
export type FlagsSchemaOptions = TargetingOptions;

/**
 * A schema that refuses definitions of flags that can't be evaluated, for the option `schema` of the value: then they are a failed
 * load, and the good ones stay, on all instances. Refused are a default variant that is none of the variants, variants of several
 * types, an unknown `state`, rules that can't be read, and any rules without `targeting`. The issues name each flag.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { flagsSchema } from 'tickless/openfeature';
 *
 * const load = () => ({ flags: { checkout: { state: 'ENABLED', variants: { on: true }, defaultVariant: 'off' } } });
 * const flags = new RefreshingValue({ name: 'flags', load, schema: flagsSchema(), logger: false });
 * await flags.get().catch((error) => console.log(error.message));
 * // prints: flags: value refused: the schema refuses it: flag "checkout": defaultVariant "off" is not one of the variants …
 * ```
 *
 * @throws {TicklessError} `OPTION` for an unknown option, and where `targeting` makes no evaluator.
 */
// biome-ignore lint/suspicious/noExplicitAny: for a value of any type, which is inferred after its schema.
export function flagsSchema<T = any>(given: FlagsSchemaOptions = {}): StandardSchema<T> {
  const { targeting } = ownOptions(given ?? {});
  namesArgument('flagsSchema', given, ['targeting']);
  checked('flagsSchema', (checks) => checkTargeting(targeting, checks));
  const standard = {
    version: 1,
    vendor: 'tickless',
    validate: (value: unknown) => {
      const { problems } = editionOf(value, targeting);
      return problems.length === 0
        ? { value: value as T }
        : { issues: problems.map((message) => ({ message })) };
    },
  } as const;
  return { '~standard': standard };
}
