// Decorators of methods and getters.

export {
  type LockedDecorator,
  type LockedDecoratorOptions,
  type LockedTaskOf,
  locked,
  lockedTaskOf,
} from './locked.ts';
export {
  type RefreshingDecorator,
  type RefreshingDecoratorOptions,
  type RefreshingOf,
  refreshing,
  refreshingOf,
} from './refreshing.ts';
export { requiredMembers } from './required-members.ts';
