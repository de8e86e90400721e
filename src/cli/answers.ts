import { Ajv2020 } from 'ajv/dist/2020.js';
import { apiSchema } from '../console/api-schema.ts';

/** Answers of the API, by the names of their schemas. */
export type AnswerName = 'Session' | 'Overview' | 'Detail' | 'Locks' | 'ActionResult' | 'Error';

const ajv = new Ajv2020({ strict: false });
ajv.addSchema({ $id: 'api', ...withFurtherFields() });

/** Whether a body has the shape of this answer. Fields that this version does not know are ignored. */
export function isAnswer(name: AnswerName, body: unknown): boolean {
  return ajv.validate(`api#/components/schemas/${name}`, body);
}

/** The console may be of a newer version, whose answers have more fields. */
function withFurtherFields(): object {
  const open = (keyword: string, schema: unknown): unknown =>
    keyword === 'additionalProperties' && schema === false ? undefined : schema;
  return JSON.parse(JSON.stringify(apiSchema, open));
}
