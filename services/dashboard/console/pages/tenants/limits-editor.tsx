import { Button, NumberInput, Table } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { LimitsPreview, TenantLimitsPatch } from '#shared/client/openapi.gen.ts';
import { useMay } from '../../api/person.ts';
import { countText } from '../../parts/numbers.tsx';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import { durationText } from '../../parts/time.tsx';
import { limitPatch, type LimitEdits, type LimitField } from './limit-fields.ts';
import classes from './tenants.module.css';

interface LimitsEditorProps {
  /** Whose limits they are, for screen readers. */
  label: string;
  fields: readonly LimitField[];
  preview: (limits: TenantLimitsPatch) => Promise<LimitsPreview>;
  save: (limits: TenantLimitsPatch) => Promise<unknown>;
  /** Read again after a change. */
  refresh: readonly string[];
}

/** Limits beside their defaults. Changes are previewed against the tasks of the last day before they are saved. */
export function LimitsEditor({ label, fields, preview, save, refresh }: LimitsEditorProps): ReactElement {
  const may = useMay('admin');
  const [edits, setEdits] = useState<LimitEdits>({});
  const queries = useQueryClient();
  const dryRun = useMutation({ mutationFn: () => preview(limitPatch(edits, fields)) });
  const saving = useMutation({
    mutationFn: () => save(limitPatch(edits, fields)),
    onSuccess: () => {
      setEdits({});
      dryRun.reset();
      void queries.invalidateQueries({ queryKey: refresh });
    },
  });
  const edit = (path: string, value: number | string): void => {
    setEdits({ ...edits, [path]: value });
    dryRun.reset();
  };
  const discard = (): void => {
    setEdits({});
    dryRun.reset();
    saving.reset();
  };
  const problem = saving.error ?? dryRun.error;
  return (
    <>
      <ScrollBox label={label} className={classes['scroll']}>
        <LimitTable fields={fields} edits={edits} onEdit={may ? edit : null} />
      </ScrollBox>
      {dryRun.data === undefined ? null : <PreviewNote preview={dryRun.data} />}
      {problem === null ? null : (
        <ProblemNote title={saving.error === null ? 'It cannot be previewed' : 'It was not saved'} error={problem} />
      )}
      {Object.keys(edits).length === 0 ? null : (
        <div className={classes['buttons']}>
          <Button size="xs" loading={dryRun.isPending} onClick={() => dryRun.mutate()}>
            What would it have done?
          </Button>
          <Button size="xs" variant="default" loading={saving.isPending} onClick={() => saving.mutate()}>
            Save
          </Button>
          <Button size="xs" variant="subtle" onClick={discard}>
            Discard
          </Button>
        </div>
      )}
    </>
  );
}

interface LimitTableProps {
  fields: readonly LimitField[];
  edits: LimitEdits;
  /** Null for a person who may not. */
  onEdit: ((path: string, value: number | string) => void) | null;
}

function LimitTable({ fields, edits, onEdit }: LimitTableProps): ReactElement {
  return (
    <Table className={classes['limits'] ?? ''}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Limit</Table.Th>
          <Table.Th>Now</Table.Th>
          <Table.Th>Default</Table.Th>
          {onEdit === null ? null : <Table.Th>Change to</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {fields.map(({ path, label, value, standard, isOptional }) => (
          <Table.Tr key={path}>
            <Table.Td title={path}>{label}</Table.Td>
            <Table.Td>
              {limitText(value)} {value === standard ? null : <ToneBadge tone="warn">differs</ToneBadge>}
            </Table.Td>
            <Table.Td className="faint">{limitText(standard)}</Table.Td>
            {onEdit === null ? null : (
              <Table.Td>
                <NumberInput
                  size="xs"
                  aria-label={`${label}: change to`}
                  placeholder={isOptional ? 'no limit' : undefined}
                  min={0}
                  value={edits[path] ?? value ?? ''}
                  onChange={(next) => {
                    if (next !== (edits[path] ?? value ?? '')) onEdit(path, next);
                  }}
                />
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function limitText(value: number | null): string {
  return value === null ? 'none' : countText(value);
}

function PreviewNote({ preview: { sentence, byLimit } }: { preview: LimitsPreview }): ReactElement {
  return (
    <output className={classes['preview']}>
      <p>{sentence}</p>
      {byLimit.length === 0 ? null : (
        <ul>
          {byLimit.map(({ limit, waited, refused, longestMs }) => (
            <li key={limit}>
              <code>{limit}</code>: {waited} would have waited, the longest {durationText(longestMs)}, and {refused} would have been
              refused.
            </li>
          ))}
        </ul>
      )}
    </output>
  );
}
