import { resumeTenant, type ScheduleParts } from '#shared/schedules/index.ts';

/**
 * TenantWatch is responsible for noticing that a tenant was enabled again, so that its schedules go on at once and not an hour later.
 * One that this process did not see disabled is found when the records are reconciled.
 */
export class TenantWatch {
  readonly #parts: ScheduleParts;
  #disabled = new Set<string>();

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
  }

  /** To be called now and then. */
  async look(): Promise<void> {
    const tenants = this.#parts.tenants.list();
    const enabled = tenants.filter(({ id, disabled }) => !disabled && this.#disabled.has(id));
    for (const { id } of enabled) {
      await resumeTenant(this.#parts, id);
      this.#parts.log.info({ event: 'tenant.schedules-resumed', tenant: id }, 'a tenant is enabled again; its schedules go on');
    }
    this.#disabled = new Set(tenants.filter(({ disabled }) => disabled).map(({ id }) => id));
  }
}
