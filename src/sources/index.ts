// Loads ready made, for the option `load`.

export type { FirstOfNotes } from '../data/backup.ts';
export { type CsvOptions, csv } from './csv.ts';
export { type FileSourceOptions, fileSource } from './file-source.ts';
export { firstOf } from './first-of.ts';
export type { FirstOfOptions } from './first-of-options.ts';
export type { HttpTarget } from './http-request.ts';
export type { HttpFetch, HttpResponse } from './http-response.ts';
export type { HttpSourceOptions } from './http-source.ts';
export { httpSource } from './http-source.ts';
export { mergeOf } from './merge-of.ts';
export { type ObjectSourceOptions, objectSource } from './object-source.ts';
export type { ObjectClient } from './objects/client-types.ts';
export type { Format, Parse, ParseOptions } from './parse.ts';
export type { QueryClient } from './queries/client-types.ts';
export { type QuerySourceOptions, querySource } from './query-source.ts';
export type { Source, SourceContext, SourceMeta } from './source.ts';
export type { SourceLike, SourceValue } from './source-like.ts';
