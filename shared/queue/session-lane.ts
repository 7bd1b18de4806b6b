/** The lane of a session: its tasks run one at a time. */
export function sessionLane(id: string): string {
  return `session:${id}`;
}
