/**
 * Work by time. `rules/` reads when a schedule fires, `store/` keeps its record, `changes/` creates and changes it, `firing/` makes
 * runs of its occurrences, and `commands/` runs what people and agents write after `/schedule`.
 */
export { backfillSchedule } from './changes/backfill-schedule.ts';
export { type ConfigurationAudit, configurationAudit } from './changes/configuration-audit.ts';
export { removeSchedule, runScheduleNow } from './changes/change-schedule.ts';
export { createSchedule } from './changes/create-schedule.ts';
export { ruleShape, schedulePatchSchema, scheduleRequestSchema } from './changes/schedule-request.ts';
export { skipOccurrence } from './changes/skip-occurrence.ts';
export { assertSchedules, syncSchedules } from './changes/sync-schedules.ts';
export { updateSchedule } from './changes/update-schedule.ts';
export { scheduleCommands } from './commands/chat-command.ts';
export { formatCommandResult } from './commands/command-result.ts';
export { type AppliedCommand, applyScheduleCommand, type ScheduleCommandCall } from './commands/run-schedule-command.ts';
export { changeOf } from './commands/schedule-change.ts';
export { type Directive, extractDirectives, hasDirective } from './commands/schedule-command.ts';
export { fireDue } from './firing/fire-due.ts';
export { followEndedRuns } from './firing/follow-ended-runs.ts';
export { reconcileSchedules, reconcileTenant } from './firing/reconcile-schedules.ts';
export { announcePlatforms, assertServed } from './platforms.ts';
export { RUN_STATUSES, listRuns, runRecord, scheduleRecord } from './public-records.ts';
export { ZoneWatch } from './firing/zone-watch.ts';
export { nextTimes } from './rules/next-times.ts';
export { readRule } from './rules/read-rule.ts';
export { readZone } from './rules/wall-time.ts';
export { type ScheduleParts, openScheduleParts } from './schedule-parts.ts';
export { countSearched, listSchedules } from './store/list-schedules.ts';
export { ScheduleStore } from './store/schedule-store.ts';
export { DIRECTIVE_KEY, OVERLAPS, SCHEDULE_STATUSES, type ScheduleMaker, parseSchedule } from './store/schedule.ts';
