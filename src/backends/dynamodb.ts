import { type DynamodbLockOptions, dynamodbLock } from '../lock/dynamodb.ts';
import { ownOptions } from '../option-checks.ts';
import { type DynamodbStoreOptions, dynamodbStore } from '../store/dynamodb.ts';
import { type Backend, optionsOfLock, optionsOfStore } from './backend.ts';

export * from '../lock/dynamodb.ts';
export * from '../store/dynamodb.ts';
export type { Backend } from './backend.ts';

/** The options of {@link dynamodbBackend}: those of the lock and of the store. */
export interface DynamodbBackendOptions extends DynamodbLockOptions, DynamodbStoreOptions {}

/**
 * A lock and a store in DynamoDB, each in a table of its own unless `table` names one for both, for the option `backend`: {@link dynamodbLock} and {@link dynamodbStore} with the same options.
 *
 * ```ts no-run
 * import { DynamoDB } from '@aws-sdk/client-dynamodb';
 * import { RefreshingValue } from 'tickless';
 * import { dynamodbBackend } from 'tickless/dynamodb';
 *
 * const backend = dynamodbBackend({ client: new DynamoDB() });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function dynamodbBackend(given: DynamodbBackendOptions): Backend {
  const options = ownOptions(given);
  return { lock: dynamodbLock(optionsOfLock(options)), store: dynamodbStore(optionsOfStore(options)) };
}
