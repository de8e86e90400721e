/** A member, as it is controlled from another instance. */
export interface ControlledMember {
  pause(): void;
  resume(): void;
}
