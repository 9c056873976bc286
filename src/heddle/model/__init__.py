"""The few types everything else speaks: resources, cluster, workload, view, plan, reasons."""
