'use client';
import { Button } from '../../../../components/button';
import { Printer } from '../../../../components/icons';

/** Opens the browser's dialog for printing. */
export function PrintButton() {
  return (
    <Button kind="primary" onClick={() => window.print()}>
      <Printer size={14} aria-hidden />
      Print
    </Button>
  );
}
