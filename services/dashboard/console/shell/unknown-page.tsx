import { Text, Title } from '@mantine/core';
import type { ReactElement } from 'react';
import { PageLink } from '../routing/page-link.tsx';

export function UnknownPage(): ReactElement {
  return (
    <div className="page">
      <Title order={1}>There is nothing here</Title>
      <Text mt="sm">
        The address may be mistyped. <PageLink href="/">To the overview</PageLink>
      </Text>
    </div>
  );
}
