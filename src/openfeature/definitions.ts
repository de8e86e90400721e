import type { FlagMetadata, FlagValue } from './sdk.ts';

/** Flags without variants: each name with its value, the same for all users. */
export type PlainFlags = Readonly<Record<string, FlagValue>>;

/** A flag in flagd's format. */
export interface FlagdFlag {
  /** `DISABLED`: evaluations get the default of the caller, with the reason `DISABLED`. */
  readonly state: 'ENABLED' | 'DISABLED';
  /** Each name with its value; all of one type. */
  readonly variants: Readonly<Record<string, FlagValue>>;
  /** The variant where no rule decides; one of `variants`. `null`, or not present: the default of the caller. */
  readonly defaultVariant?: string | null | undefined;
  /** A rule in JsonLogic whose result is the name of a variant. Not present, or `{}`: the default variant, for everyone. */
  readonly targeting?: object | undefined;
  /** Added to what evaluations tell, over the `metadata` of the whole. */
  readonly metadata?: FlagMetadata | undefined;
}

/** Flags in flagd's format: https://flagd.dev/reference/flag-definitions. */
export interface FlagdFlags {
  readonly flags: Readonly<Record<string, FlagdFlag>>;
  /** Parts of rules with a name, for `{ "$ref": "name" }`. */
  readonly $evaluators?: Readonly<Record<string, unknown>> | undefined;
  /** Of all flags. */
  readonly metadata?: FlagMetadata | undefined;
}

/**
 * The definitions of all flags, in one of two formats. An object whose property `flags` is an object is {@link FlagdFlags}, any
 * other one {@link PlainFlags}.
 */
export type FlagDefinitions = FlagdFlags | PlainFlags;
