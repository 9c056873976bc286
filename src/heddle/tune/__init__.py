"""The best policy for one cluster: searched on some time blocks of its workload, reported on the others."""
