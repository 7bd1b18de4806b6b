/**
 * The one list of what a person should know of. `kinds` judge facts, purely; `facts` reads these once; `list` keeps what was found until it
 * is resolved or acknowledged, and looks while nobody does. `npx muster doctor`, `GET /v1/checks`, `GET /v1/attention`, the notifications
 * `finding.*` and the console are views of it; checks of one machine are the command's own.
 */
export { checkInstallation, type CheckResult, viewChecks } from './checks.ts';
export { bySeverity, FINDING_CODES, SEVERITIES } from './finding.ts';
export { type Alert, alertOf, alertSchema, concerns, type KeptAlert } from './alerts/alert.ts';
export { readAlerts } from './alerts/alert-store.ts';
export { noteTested, readReceivers, type ReceiverState } from './alerts/receiver-store.ts';
export { AlertSender } from './alerts/alert-sender.ts';
export { sendAlerts } from './alerts/send-alerts.ts';
export { FindingList } from './list/finding-list.ts';
export { readList } from './list/finding-store.ts';
export { openFindingLooks } from './list/finding-watch.ts';
export type { KeptFinding } from './list/reconcile.ts';
