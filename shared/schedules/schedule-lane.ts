/** The lane in which the runs of a schedule follow each other, unless it lets them overlap. */
export function scheduleLane(scheduleId: string): string {
  return `schedule:${scheduleId}`;
}
