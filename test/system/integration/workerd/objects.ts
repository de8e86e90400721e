// Classes of Durable Objects for durable-object.test.ts.

import type { ObjectSql } from '../../../../src/backends/durable-object/object-state.ts';
import { type ObjectState, TicklessObject } from '../../../../src/backends/durable-object.ts';

/** A person edits the records, and reads which steps were taken, by requests of its own. */
export class EditableObject extends TicklessObject {
  readonly #sql: ObjectSql;
  #steps: string[] = [];

  constructor(state: ObjectState) {
    super(state);
    this.#sql = state.storage.sql;
  }

  override async fetch(request: Request): Promise<Response> {
    const text = await request.text();
    if (request.url.endsWith('/sql')) {
      const [statement, ...values] = JSON.parse(text) as [string, ...string[]];
      return Response.json(this.#sql.exec(statement, ...values).toArray());
    }
    if (request.url.endsWith('/steps')) return Response.json(this.#steps.splice(0));
    const { step, args } = JSON.parse(text) as { step: string; args: [readonly Sent[]] };
    this.#steps.push(
      step === 'apply'
        ? args[0]
            .filter(({ name }) => !name.startsWith('report/'))
            .map(shown)
            .join(', ')
        : step,
    );
    return super.fetch(new Request(request.url, { method: 'POST', body: text }));
  }
}

/** Answers nothing. */
export class SilentObject {
  fetch(): Promise<Response> {
    return new Promise(() => {});
  }
}

/** Cannot be started. */
export class BrokenObject {
  constructor() {
    throw new Error('broken');
  }
}

/** Of an application. */
export class OtherObject {
  fetch(): Response {
    return new Response('hello');
  }
}

/** With storage of the earlier kind. */
export class KeyValueObject extends TicklessObject {}

/** Takes each step, and loses its first answer. */
export class LossyObject extends TicklessObject {
  readonly #seen: Set<string> = new Set();

  override async fetch(request: Request): Promise<Response> {
    const text = await request.text();
    const response = await super.fetch(new Request(request.url, { method: request.method, body: text }));
    if (this.#seen.has(text)) return response;
    this.#seen.add(text);
    throw new Error('the answer is lost');
  }
}

/** An edit as it is sent. */
interface Sent {
  readonly op: string;
  readonly name: string;
  readonly phase?: string;
}

function shown({ op, name, phase }: Sent): string {
  const kind = name.slice(0, name.indexOf('/'));
  return phase === undefined ? `${op} ${kind}` : `${op} ${kind} to ${phase}`;
}
