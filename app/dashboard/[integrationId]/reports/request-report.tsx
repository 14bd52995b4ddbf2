'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { RequestReportInput } from '../../../../contract/reports';
import { Dialog } from '../../components/dialog';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { ReportForm } from './report-form';

/** Asks for a report that is made once. */
export function RequestReport({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const request = useMutation(
    trpc.reports.request.mutationOptions({
      onSuccess: async () => {
        toast({ text: 'The report is being made. It appears in the list when it is ready.' });
        close();
        await queryClient.invalidateQueries({ queryKey: trpc.reports.jobs.queryKey() });
        // It may be ready already: then it was never seen among those that are being made.
        await queryClient.invalidateQueries({ queryKey: trpc.reports.list.pathKey() });
      },
    }),
  );
  const close = () => {
    request.reset();
    onClose();
  };
  return (
    <Dialog title="Request a report" isOpen={isOpen} onClose={close}>
      <ReportForm
        act="Request report"
        change={request}
        // The server checks that the fields are those of the template.
        onSubmit={(_, content) => request.mutate(content as RequestReportInput)}
        onCancel={close}
      />
    </Dialog>
  );
}
