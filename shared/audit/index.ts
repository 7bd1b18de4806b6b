/**
 * The audit log of each tenant: who changed what, when, from where, and with which outcome. Bounded by count and age; no entry has values of
 * what was sent.
 */
export { describeAction } from './action-names.ts';
export { type AuditActor, type AuditEntry, actorOf, auditOutcomes, auditOrigins, actorKinds } from './audit-entry.ts';
export { type AuditPorts, type AuditFilter, iterateAudit, isAuditId, recordAudit, type StoredAuditEntry } from './audit-log.ts';
