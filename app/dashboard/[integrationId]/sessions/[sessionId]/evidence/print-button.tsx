'use client';
import { Printer } from 'lucide-react';
import { Button } from '../../../../components/button';

/** Opens the browser's dialog for printing. */
export function PrintButton() {
  return (
    <Button kind="primary" onClick={() => window.print()}>
      <Printer size={14} aria-hidden />
      Print
    </Button>
  );
}
