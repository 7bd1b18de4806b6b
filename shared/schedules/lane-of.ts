/** The lane in which the runs of a schedule follow each other, unless it lets them overlap. */
export function laneOf(scheduleId: string): string {
  return `schedule:${scheduleId}`;
}
